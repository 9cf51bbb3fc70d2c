import { Module } from '@nestjs/common';
import { NoteFolderFeedController, NoteFoldersController } from './note-folders.controller.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import { NoteFoldersService } from './note-folders.service.js';

@Module({
  controllers: [NoteFolderFeedController, NoteFoldersController],
  providers: [NoteFoldersRepository, NoteFoldersService],
})
export class NoteFoldersModule {}
