/** The public names of `backscroll/client`: the library over the network. Also runs in browsers. */

export type { EngineApi } from "../engine/interfaces/engine-api.ts";
export type { RoutesApi } from "../engine/interfaces/routes-api.ts";
export type { MessageApi, SessionApi } from "../engine/interfaces/session-api.ts";
export type { TenantApi } from "../engine/interfaces/tenant-api.ts";
export { inputTextOf } from "../model/block.ts";
export { BackscrollError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";
export { totalTokens } from "../model/usage.ts";
export type { BackupOptions, PieceHash, RemoteBackup } from "./backup.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ExportOptions } from "./export-session.ts";
export { type RemoteAccess, RemoteEngine } from "./remote-engine.ts";
export { RemoteMessage } from "./remote-message.ts";
export { RemoteRoutes } from "./remote-parts.ts";
export { RemoteSession } from "./remote-session.ts";
export { RemoteTenant } from "./remote-tenant.ts";
