import { Module } from '@nestjs/common';
import { Images } from './images.js';

@Module({ providers: [Images], exports: [Images] })
export class ImagesModule {}
