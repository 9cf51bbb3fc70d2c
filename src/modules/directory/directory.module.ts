import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/index.js';
import { DirectoryApi, DirectoryController, DirectoryRepository } from './directory.controller.js';

@Module({
  imports: [ContactsModule],
  controllers: [DirectoryController],
  providers: [DirectoryRepository, DirectoryApi],
  exports: [DirectoryApi],
})
export class DirectoryModule {}
