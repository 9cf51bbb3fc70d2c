export { AccessModule } from './access.module.js';
export { AccessErrors } from './access.dto.js';
export { PERMISSIONS } from './permissions.js';
export { InvitationAcceptance, type OpenInvitation } from './invitations/invitation-acceptance.js';
export { InvitationsService } from './invitations/invitations.service.js';
export { MemberAdmission } from './member-admission.js';
export { Provisioning } from './provisioning.js';
export type { WorkspaceActor } from './groups/group-changes.js';
export { CreateGroup } from './groups/groups.dto.js';
