import { Global, Module } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import { TenantsModule } from '../tenants/index.js';
import { Authority, AuthorityRepository } from './authority.js';
import { GroupChanges } from './groups/group-changes.js';
import {
  GroupMembersController,
  GroupPermissionsController,
  GroupsController,
} from './groups/groups.controller.js';
import { GroupMembersRepository } from './groups/group-members.repository.js';
import { GroupMembersService } from './groups/group-members.service.js';
import { GroupPermissionsService } from './groups/group-permissions.service.js';
import { GroupsRepository } from './groups/groups.repository.js';
import { GroupsService } from './groups/groups.service.js';
import { InvitationAcceptance } from './invitations/invitation-acceptance.js';
import { MemberAdmission, NewMemberGroups } from './member-admission.js';
import { InvitationMails } from './invitations/invitation-mails.js';
import { InvitationsController } from './invitations/invitations.controller.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { InvitationsService } from './invitations/invitations.service.js';
import { MemberStatusChanges } from './members/member-status.js';
import { Provisioning } from './provisioning.js';
import {
  MemberRecoveryController,
  TenantMembersController,
  TenantMembersService,
} from './members/tenant-members.controller.js';
import { MemberRecoveryService } from './members/member-recovery.service.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { TenantMembersRepository } from './members/tenant-members.repository.js';
import { MemberPublicEvents } from './members/member-public-events.js';
import { Membership } from './membership.js';
import { GroupsPersonalData } from './groups-personal-data.js';

/** Global because routes of every module require permissions (`@Requires`). */
@Global()
@Module({
  imports: [TenantsModule, AccountSecurityModule],
  controllers: [
    GroupsController,
    GroupMembersController,
    GroupPermissionsController,
    TenantMembersController,
    InvitationsController,
    MemberRecoveryController,
  ],
  providers: [
    GroupsPersonalData,
    AuthorityRepository,
    Authority,
    { provide: PermissionSource, useExisting: Authority },
    Membership,
    GroupsRepository,
    GroupsService,
    GroupMembersRepository,
    GroupMembersService,
    GroupPermissionsService,
    GroupChanges,
    MemberStatusChanges,
    Provisioning,
    TenantMembersRepository,
    TenantMembersService,
    MemberPublicEvents,
    MemberRecoveryService,
    InvitationsRepository,
    NewMemberGroups,
    MemberAdmission,
    InvitationMails,
    InvitationsService,
    InvitationAcceptance,
  ],
  exports: [PermissionSource, InvitationAcceptance, InvitationsService, MemberAdmission, Provisioning],
})
export class AccessModule {}
