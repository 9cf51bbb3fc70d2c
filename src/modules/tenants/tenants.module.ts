import { Module } from '@nestjs/common';
import { TenantsApi } from './tenants.api.js';
import { TenantsRepository } from './tenants.repository.js';

@Module({ providers: [TenantsRepository, TenantsApi], exports: [TenantsApi] })
export class TenantsModule {}
