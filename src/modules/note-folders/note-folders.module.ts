import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { NoteFoldersOfMembers } from './note-folders-of-members.js';
import { NoteFolderFeedController, NoteFoldersController } from './note-folders.controller.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import { NoteFoldersService } from './note-folders.service.js';
import { NoteFoldersPersonalData } from './note-folders-personal-data.js';

@Module({
  imports: [TenantsModule],
  controllers: [NoteFolderFeedController, NoteFoldersController],
  providers: [NoteFoldersPersonalData, NoteFoldersRepository, NoteFoldersService, NoteFoldersOfMembers],
})
export class NoteFoldersModule {}
