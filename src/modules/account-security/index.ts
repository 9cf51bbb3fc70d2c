export { AccountSecurityModule } from './account-security.module.js';
export {
  type ApplicationPasswordProvider,
  ApplicationPasswordProviders,
  type NewApplicationPassword,
  type Scope,
  ProviderLimitError,
} from './application-passwords/application-password-provider.js';
export {
  ApplicationPasswordSignIn,
  type ProgramSignIn,
  type SignedInProgram,
} from './application-passwords/application-password-sign-in.js';
export { PasswordSignIn, type SignInOutcome } from './passwords/password-sign-in.js';
export { SecondFactors } from './two-factor/second-factors.js';
export { isPasskeyName, MAX_PASSKEY_NAME } from './two-factor/passkeys/passkey.dto.js';
export { RequiredEnrolment } from './two-factor/required-enrolment.js';
export { PasskeyLinks } from './passkey-links.js';
export { PasskeyProofs } from './two-factor/passkeys/passkey-proofs.js';
export { type PasskeyOwner, Passkeys } from './two-factor/passkeys/passkeys.service.js';
export { PasswordRecovery } from './password-recovery.js';
export { PasswordPolicy } from './passwords/password-policy.js';
export { EmailChange } from './recovery/email-change.js';
export { sessionState } from './security-settings.service.js';
export { SessionState } from './security-settings.dto.js';
export { AccountRecovery } from './account-recovery.js';
export { SecurityLog } from './security-log.js';
export { OWNER_CHECK_ERRORS, SecurityErrors } from './account-security.errors.js';
export { ConfirmOwner } from './model/confirm-owner.dto.js';
export { OwnerCheck } from './owner-check.js';
export { PASSWORD_LIMIT } from './model/guess-limits.js';
