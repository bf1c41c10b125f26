/** The path of a shared session; the token follows. */
export const SHARE_PATH = "/share/";
