import type { Type } from '@nestjs/common';
import { FeedController } from '../sync/feed.controller.js';
import type { FeedSource } from '../sync/feed-source.js';
import type { AnyResource } from './resource.js';

/**
 * The routes `changes` and `index` of a resource, for a controller to extend. Register it before the controller that has
 * `/:id`.
 */
export function ResourceFeed(
  resource: AnyResource,
  source: Type<FeedSource>,
  texts: { changes?: string; index?: string } = {},
) {
  const { tag, name, plural = `${name}s` } = resource.options;
  return FeedController({
    source,
    tag,
    item: resource.operationId('').replace(/^./, (letter) => letter.toLowerCase()),
    changes: {
      type: resource.envelopes.changes,
      description: texts.changes ?? `The ${plural} that changed, each once as it is now, and removals.`,
    },
    index: {
      type: resource.envelopes.index,
      summary: `Rebuild the index of ${plural}`,
      description:
        texts.index ??
        `All ${plural} that you can see, newest change first. Then follow the change feed from \`cursor\`.`,
    },
  });
}
