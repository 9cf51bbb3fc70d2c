import { Global, Module } from '@nestjs/common';
import { ReferenceTitles } from './reference-titles.js';

@Global()
@Module({ providers: [ReferenceTitles], exports: [ReferenceTitles] })
export class ReferencesModule {}
