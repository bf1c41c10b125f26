/** Everything of one owner in a tenant, as one thing to export and to delete. */

import { checkName } from "../../model/ids.ts";
import { type EngineContext, forReading } from "../engine-context.ts";
import { eachOwned, type OwnedItem } from "./each-owned.ts";
import { type ForgetOwnerOptions, forgetOwner, type OwnerDeletion } from "./forget-owner.ts";

export class Owned {
  readonly #engine: EngineContext;
  readonly #owner: string;

  constructor(engine: EngineContext, owner: string) {
    this.#engine = engine;
    this.#owner = checkName(owner, "owner");
  }

  /**
   * Their sessions and the forks of these, their messages in other sessions, and the memories,
   * facts, records, routes and tokens that name them or one of the sessions.
   */
  each(): AsyncGenerator<OwnedItem> {
    return eachOwned(forReading(this.#engine), this.#owner);
  }

  /** Deletes all of it and purges the index. Called again, it continues an interrupted deletion. */
  forget(options: ForgetOwnerOptions = {}): Promise<OwnerDeletion> {
    return forgetOwner(this.#engine, this.#owner, options);
  }
}
