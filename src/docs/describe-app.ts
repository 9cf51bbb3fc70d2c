import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AppModule } from '../app.module.js';
import { API_PREFIX, Config } from '../config/config.js';
import { openApiDocument } from './openapi-document.js';

/** Builds the document from the code. Modules are wired but not started, so it needs no database. */
export async function describeApp(): Promise<OpenAPIObject> {
  const app = await NestFactory.create(AppModule.forRoot(Config.parse({}), 'postgresql://unused'), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  app.setGlobalPrefix(API_PREFIX);
  return openApiDocument(app);
}
