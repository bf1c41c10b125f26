/** The memory domain as Mastra takes it: an instance of its own class. */

import type { TenantApi } from "../../engine/interfaces.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkTenant } from "../common/sessions.ts";
import { MemoryDomain } from "./memory-domain.ts";
import { SOURCE } from "./message-mirror.ts";
import type { ObservationRecords } from "./observation-records.ts";

/** `MemoryStorage` of `@mastra/core/storage`. */
export type MemoryStorageClass = abstract new () => object;

export interface MastraMemoryOptions<Base extends MemoryStorageClass> {
  /** `MemoryStorage` of `@mastra/core/storage`: the class that the domain is an instance of. */
  readonly MemoryStorage: Base;
  /** The namespace of its records, and the prefix of session keys. Default: `mastra`. */
  readonly namespace?: string;
  /** Whether messages also become sessions, for search and for people. Default: true. */
  readonly sessions?: boolean;
  /** The agent of those sessions, and the author of answers. Default: `mastra`. */
  readonly agent?: string;
  /** The author of requests. Default: `user`. */
  readonly user?: string;
}

/** `new MastraCompositeStore({ id, domains: { memory: mastraMemory(memory, { MemoryStorage }) } })`. */
export function mastraMemory<Base extends MemoryStorageClass>(
  tenant: TenantApi,
  options: MastraMemoryOptions<Base>,
): InstanceType<Base> {
  const {
    MemoryStorage,
    namespace = SOURCE,
    sessions = true,
    agent = SOURCE,
    user = "user",
  } = checkFields<MastraMemoryOptions<MemoryStorageClass>, typeof INPUTS.mastraMemory>(
    options,
    "options",
    INPUTS.mastraMemory,
  );
  checkTenant(tenant);
  checkClass(MemoryStorage);
  const domain = new MemoryDomain(tenant, { namespace, sessions, authors: { agent, user } });
  const memory = new (MemoryStorage as unknown as new () => InstanceType<Base>)();
  const { observations } = domain;
  const methods = [
    ...METHODS.map((name) => [name, domain[name].bind(domain)] as const),
    ...OBSERVATION_METHODS.map((name) => [name, observations[name].bind(observations)] as const),
  ];
  return Object.assign(memory, Object.fromEntries(methods), {
    supportsPartialThreadUpdate: true,
    supportsObservationalMemory: true,
  });
}

/** The domain of another class would lack the methods that Mastra calls beside those below. */
function checkClass({ prototype }: MemoryStorageClass): void {
  const { init, cloneThread } = prototype as { init?: unknown; cloneThread?: unknown };
  if (typeof init === "function" && typeof cloneThread === "function") return;
  throw new BackscrollError(
    "invalid_input",
    "MemoryStorage must be the class MemoryStorage of @mastra/core/storage",
    { details: { field: "MemoryStorage" } },
  );
}

/** The methods of Mastra's class that ours override. */
const METHODS = [
  "dangerouslyClearAll",
  "getThreadById",
  "saveThread",
  "updateThread",
  "updateThreadMetadata",
  "updateThreadResourceId",
  "deleteThread",
  "listThreads",
  "listMessages",
  "listMessagesByResourceId",
  "listMessagesById",
  "saveMessages",
  "updateMessages",
  "deleteMessages",
  "copyThread",
  "getResourceById",
  "saveResource",
  "updateResource",
] as const satisfies readonly (keyof MemoryDomain)[];

const OBSERVATION_METHODS = [
  "getObservationalMemory",
  "getObservationalMemoryHistory",
  "initializeObservationalMemory",
  "insertObservationalMemoryRecord",
  "updateActiveObservations",
  "updateBufferedObservations",
  "swapBufferedToActive",
  "createReflectionGeneration",
  "updateBufferedReflection",
  "swapBufferedReflectionToActive",
  "setReflectingFlag",
  "setObservingFlag",
  "setBufferingObservationFlag",
  "setBufferingReflectionFlag",
  "setPendingMessageTokens",
  "updateObservationalMemoryConfig",
  "clearObservationalMemory",
] as const satisfies readonly (keyof ObservationRecords)[];
