import { Global, Module } from '@nestjs/common';
import { ContentCounts } from './content-counts.js';
import { RelatedItems } from './related-items.js';
import { ReferenceTitles } from './reference-titles.js';

@Global()
@Module({
  providers: [ReferenceTitles, ContentCounts, RelatedItems],
  exports: [ReferenceTitles, ContentCounts, RelatedItems],
})
export class ReferencesModule {}
