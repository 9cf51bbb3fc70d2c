import { Global, Module } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission-source.js';
import { TenantsModule } from '../tenants/index.js';
import { Authority } from './authority.js';
import { AuthorityRepository } from './authority.repository.js';
import { GroupMembersController } from './group-members.controller.js';
import { GroupMembersRepository } from './group-members.repository.js';
import { GroupMembersService } from './group-members.service.js';
import { GroupPermissionsController } from './group-permissions.controller.js';
import { GroupPermissionsService } from './group-permissions.service.js';
import { GroupsController } from './groups.controller.js';
import { GroupsRepository } from './groups.repository.js';
import { GroupsService } from './groups.service.js';
import { Membership } from './membership.js';
import { TenantMembersController } from './tenant-members.controller.js';
import { TenantMembersRepository } from './tenant-members.repository.js';
import { TenantMembersService } from './tenant-members.service.js';

/** Global because routes of every module require permissions (`@Requires`). */
@Global()
@Module({
  imports: [TenantsModule],
  controllers: [
    GroupsController,
    GroupMembersController,
    GroupPermissionsController,
    TenantMembersController,
  ],
  providers: [
    AuthorityRepository,
    Authority,
    { provide: PermissionSource, useExisting: Authority },
    Membership,
    GroupsRepository,
    GroupsService,
    GroupMembersRepository,
    GroupMembersService,
    GroupPermissionsService,
    TenantMembersRepository,
    TenantMembersService,
  ],
  exports: [PermissionSource],
})
export class AccessModule {}
