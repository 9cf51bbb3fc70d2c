import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config.js';
import { createDataSource, type SchemaPart } from './data-source.js';
import { Db } from './db.js';

/** Opens the pool before anything else starts; closes it after everything else has stopped. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(url: string, schema: SchemaPart): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        {
          provide: DataSource,
          inject: [Config],
          useFactory: (config: Config) => createDataSource(config, url, schema).initialize(),
        },
        Db,
      ],
      exports: [Db],
    };
  }
}
