import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config.js';
import { sharesOfMain, sumOf } from './connections/shares.js';
import { createDataSource } from './data-source.js';
import { Schema } from './schema/schema-part.js';
import { Db } from './db.js';

/** Opens the pool before anything else starts; closes it after everything else has stopped. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(url: string, schema: Schema): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        {
          provide: DataSource,
          inject: [Config],
          useFactory: (config: Config) => {
            const shares = sharesOfMain(config.DATABASE_POOL_MAX);
            return createDataSource(config, url, schema, { shares, poolSize: sumOf(shares) }).initialize();
          },
        },
        {
          provide: Db,
          inject: [DataSource, Config],
          useFactory: (dataSource: DataSource, { replicaUrls }: Config) => {
            const db = new Db(dataSource);
            if (replicaUrls.length > 0) db.main.useReplicas(replicaUrls);
            return db;
          },
        },
        { provide: Schema, useValue: schema },
      ],
      exports: [Db, Schema],
    };
  }
}
