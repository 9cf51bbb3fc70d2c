import { Module } from '@nestjs/common';
import { HtmlPolicy } from './html-policy.js';

@Module({ providers: [HtmlPolicy], exports: [HtmlPolicy] })
export class HtmlModule {}
