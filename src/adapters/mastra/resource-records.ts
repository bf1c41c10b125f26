/** Resources and their working memories as records; `records.search` finds a working memory by its words. */

import type { StoredRecord } from "../../model/record.ts";
import { toRecordText } from "../common/record-text.ts";
import { untilWritten } from "../common/settle.ts";
import { resourceKey } from "./record-keys.ts";
import { checkName, type RecordStore, timeAfter, toDate, toJson } from "./record-store.ts";
import type { MastraResource } from "./sdk-types.ts";

export class ResourceRecords {
  readonly #store: RecordStore;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async find(resourceId: string): Promise<MastraResource | null> {
    const record = await this.#store.find(resourceKey(checkName(resourceId, "resourceId")));
    return record === undefined ? null : toResource(record);
  }

  async save(resource: MastraResource): Promise<void> {
    checkName(resource.id, "resource.id");
    toDate(resource.createdAt, "resource.createdAt");
    toDate(resource.updatedAt, "resource.updatedAt");
    await this.#put(resource);
  }

  /** Updates the given fields of a resource, which is created if missing. */
  async update(change: {
    readonly resourceId: string;
    readonly workingMemory?: string;
    readonly metadata?: Record<string, unknown>;
  }): Promise<MastraResource> {
    const { resourceId: id, workingMemory, metadata } = change;
    return untilWritten(async () => {
      const record = await this.#store.find(resourceKey(checkName(id, "resourceId")));
      const now = new Date();
      const before =
        record === undefined ? { id, createdAt: now, updatedAt: now } : toResource(record);
      const resource: MastraResource = {
        ...before,
        metadata: { ...before.metadata, ...metadata },
        updatedAt: record === undefined ? now : timeAfter(before.updatedAt),
      };
      if (workingMemory !== undefined) resource.workingMemory = workingMemory;
      await this.#put(resource, record?.version ?? null);
      return resource;
    });
  }

  async #put(resource: MastraResource, expectedVersion?: string | null): Promise<void> {
    const { workingMemory } = resource;
    const text = toRecordText(typeof workingMemory === "string" ? workingMemory : "");
    const options = expectedVersion === undefined ? { text } : { text, expectedVersion };
    const value = toJson(resource, "resource");
    await this.#store.write([this.#store.put(resourceKey(resource.id), value, options)]);
  }
}

function toResource({ value }: StoredRecord): MastraResource {
  const resource = value as unknown as MastraResource;
  return {
    ...resource,
    createdAt: new Date(resource.createdAt),
    updatedAt: new Date(resource.updatedAt),
  };
}
