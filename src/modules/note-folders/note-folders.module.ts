import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { NoteFoldersOfMembers, NoteFoldersPersonalData } from './note-folders-of-members.js';
import {
  NoteFolderFeedController,
  NoteFoldersController,
  NoteFoldersService,
} from './note-folders.controller.js';
import { NoteFoldersRepository } from './note-folders.repository.js';

@Module({
  imports: [TenantsModule],
  controllers: [NoteFolderFeedController, NoteFoldersController],
  providers: [NoteFoldersPersonalData, NoteFoldersRepository, NoteFoldersService, NoteFoldersOfMembers],
})
export class NoteFoldersModule {}
