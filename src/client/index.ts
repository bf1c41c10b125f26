/** The public names of `backscroll/client`: the library over the network. Also runs in browsers. */

export type {
  EngineApi,
  MessageApi,
  RoutesApi,
  SessionApi,
  TenantApi,
} from "../engine/interfaces.ts";
export { inputTextOf } from "../model/block.ts";
export { BackscrollError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";
export { totalTokens } from "../model/prices.ts";
export type { BackupOptions, PieceHash, RemoteBackup } from "./backup.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export { type RemoteAccess, RemoteEngine } from "./remote-engine.ts";
export { RemoteMessage } from "./remote-message.ts";
export { RemoteRoutes } from "./remote-parts.ts";
export { type ExportOptions, RemoteSession } from "./remote-session.ts";
export { RemoteTenant } from "./remote-tenant.ts";
