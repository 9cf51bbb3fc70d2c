import { Global, Module } from '@nestjs/common';
import { ContentCounts } from './content-counts.js';
import { ReferenceTitles } from './reference-titles.js';

@Global()
@Module({ providers: [ReferenceTitles, ContentCounts], exports: [ReferenceTitles, ContentCounts] })
export class ReferencesModule {}
