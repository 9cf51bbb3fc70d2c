import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/index.js';
import { DirectoryApi } from './directory.api.js';
import { DirectoryController } from './directory.controller.js';
import { DirectoryRepository } from './directory.repository.js';

@Module({
  imports: [ContactsModule],
  controllers: [DirectoryController],
  providers: [DirectoryRepository, DirectoryApi],
  exports: [DirectoryApi],
})
export class DirectoryModule {}
