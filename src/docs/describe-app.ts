import { NestFactory } from '@nestjs/core';
import 'reflect-metadata';
import { AppModule } from '../app.module.js';
import { API_PREFIX, Config } from '../config/config.js';
import { documentsOf } from './openapi-document.js';

/** Builds both documents from the code. Modules are wired but not started, so it needs no database. */
export async function describeApp(): Promise<ReturnType<typeof documentsOf>> {
  const app = await NestFactory.create(AppModule.forRoot(Config.parse({}), 'postgresql://unused'), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  app.setGlobalPrefix(API_PREFIX);
  return documentsOf(app);
}
