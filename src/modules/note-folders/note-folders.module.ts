import { Module } from '@nestjs/common';
import { NoteFolderFeedController } from './note-folder-feed.controller.js';
import { NoteFolderFeedRepository } from './note-folder-feed.repository.js';
import { NoteFoldersController } from './note-folders.controller.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import { NoteFoldersService } from './note-folders.service.js';

@Module({
  controllers: [NoteFolderFeedController, NoteFoldersController],
  providers: [NoteFoldersRepository, NoteFolderFeedRepository, NoteFoldersService],
})
export class NoteFoldersModule {}
