import { API_PREFIX } from '../../../config/config.js';

/** Path of the Socket.IO server. */
export const SOCKET_PATH = `/${API_PREFIX}/socket`;

/** Whether a request target is that of the Socket.IO server. */
export const isSocketTarget = (target: string | undefined): boolean =>
  target?.split('?', 1)[0]?.replace(/\/$/, '') === SOCKET_PATH;
