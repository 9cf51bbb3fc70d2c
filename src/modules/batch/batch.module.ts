import { Module } from '@nestjs/common';
import { BatchController, BatchService } from './batch.controller.js';

@Module({ controllers: [BatchController], providers: [BatchService] })
export class BatchModule {}
