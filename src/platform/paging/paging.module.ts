import { Global, Module } from '@nestjs/common';
import { Cursors } from './cursors.js';

@Global()
@Module({ providers: [Cursors], exports: [Cursors] })
export class PagingModule {}
