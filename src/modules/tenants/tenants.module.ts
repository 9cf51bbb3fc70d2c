import { Module } from '@nestjs/common';
import { DirectoryBackfill } from './directory-backfill.js';
import { TenantsApi } from './tenants.api.js';
import { TenantsRepository } from './tenants.repository.js';

@Module({ providers: [TenantsRepository, TenantsApi, DirectoryBackfill], exports: [TenantsApi] })
export class TenantsModule {}
