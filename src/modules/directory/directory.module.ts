import { Module } from '@nestjs/common';
import { DirectoryController } from './directory.controller.js';
import { DirectoryRepository } from './directory.repository.js';

@Module({ controllers: [DirectoryController], providers: [DirectoryRepository] })
export class DirectoryModule {}
