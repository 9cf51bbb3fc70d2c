// Loaded before the server by search.bench.mjs: the same server, except that nothing is indexed.
import { Outbox } from '../../../dist/platform/events/outbox.js';

const { value: subscribe } = Object.getOwnPropertyDescriptor(Outbox.prototype, 'subscribe');
Outbox.prototype.subscribe = function (type, consumer, handler) {
  const nothing = async () => undefined;
  subscribe.call(this, type, consumer, consumer === 'note-search' ? nothing : handler);
};

const { value: prepareBatches } = Object.getOwnPropertyDescriptor(Outbox.prototype, 'prepareBatches');
Outbox.prototype.prepareBatches = function (consumer, prepare) {
  if (consumer !== 'note-search') prepareBatches.call(this, consumer, prepare);
};
