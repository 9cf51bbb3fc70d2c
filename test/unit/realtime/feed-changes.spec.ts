import { FeedChanges } from '../../../src/platform/realtime/feed-changes.js';
import { UserConnections } from '../../../src/platform/realtime/user-connections.js';

test('nothing is kept of a user whose sockets are closed', () => {
  const signals: AbortSignal[] = [];
  const state = {
    read: (_ctx: unknown, _query: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  };
  const connections = new UserConnections();
  const changes = new FeedChanges(connections, state as never);
  changes.onModuleInit();
  const connection = { ctx: { tenantId: 't', userId: 'u' } } as never;
  const other = { ctx: { tenantId: 't', userId: 'u' } } as never;
  for (const each of [connection, other]) connections.add(each);
  connections.remove(connection);
  expect([changes['watched'].size, signals.map(({ aborted }) => aborted)]).toEqual([1, [false]]);
  connections.remove(other);
  expect([changes['watched'].size, signals.map(({ aborted }) => aborted)]).toEqual([0, [true]]);
});
