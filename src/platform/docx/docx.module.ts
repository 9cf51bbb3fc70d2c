import { Module } from '@nestjs/common';
import { DocxConverter } from './docx-converter.js';

@Module({ providers: [DocxConverter], exports: [DocxConverter] })
export class DocxModule {}
