import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { IssuerAccounts } from './issuer-accounts.js';
import { IssuerClient, IssuerHttp } from './issuer-client.js';
import { IssuerPersonalData } from './issuer-personal-data.js';
import { IssuerSignIn } from './issuer-sign-in.js';
import { IssuerSecrets, IssuersRepository } from './issuers.repository.js';
import { IssuersController } from './issuers.controller.js';
import { IssuersService } from './issuers.service.js';

/** OpenID issuers of workspaces, by which their members sign in (ADR 58). */
@Module({
  imports: [TenantsModule],
  controllers: [IssuersController],
  providers: [
    IssuerPersonalData,
    IssuersRepository,
    IssuersService,
    IssuerSecrets,
    IssuerHttp,
    IssuerClient,
    IssuerAccounts,
    IssuerSignIn,
  ],
  exports: [IssuerSignIn],
})
export class IssuersModule {}
