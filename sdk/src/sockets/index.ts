export type { ClientEvents, Rejection, ServerEvents } from '../generated/events.js';
export type { Message, RoomChanges } from './rooms.js';
export { SocketError } from './socket-error.js';
export {
  type SocketEvents,
  type SocketOptions,
  type SocketState,
  WorkspaceSocket,
} from './workspace-socket.js';
