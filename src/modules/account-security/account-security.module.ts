import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { AccountRecovery } from './account-recovery.js';
import { ApplicationPasswordProviders } from './application-passwords/application-password-provider.js';
import {
  ApplicationPasswordRemoval,
  ApplicationPasswords,
} from './application-passwords/application-passwords.service.js';
import { ApplicationPasswordSignIn } from './application-passwords/application-password-sign-in.js';
import { ApplicationPasswordsController } from './application-passwords/application-passwords.controller.js';
import { ApplicationPasswordsRepository } from './application-passwords/application-passwords.repository.js';
import { AccountTokens } from './recovery/account-tokens.js';
import { PasswordRecovery } from './password-recovery.js';
import { EmailChange } from './recovery/email-change.js';
import { EmailChangeController } from './recovery/email-change.controller.js';
import { BreachList, PasswordPolicy } from './passwords/password-policy.js';
import { Confirmation } from './confirmation.js';
import { OwnerCheck } from './owner-check.js';
import { PasswordChangeService, SecuritySettingsController } from './security-settings.controller.js';
import { SecurityLog, SignInLog } from './security-log.js';
import { PasswordSignIn } from './passwords/password-sign-in.js';
import { RequiredEnrolment } from './two-factor/required-enrolment.js';
import { SecondFactorEnrolment } from './two-factor/second-factor-enrolment.js';
import { SecondFactors, SecondFactorsRepository } from './two-factor/second-factors.js';
import { SecuritySettingsService } from './security-settings.service.js';
import { PasskeyChallenges } from './two-factor/passkeys/passkey-challenges.js';
import { PasskeyLinks } from './passkey-links.js';
import { PasskeyProofs } from './two-factor/passkeys/passkey-proofs.js';
import { PasskeySite } from './two-factor/passkeys/webauthn.js';
import {
  PasskeysController,
  PasskeyVerificationController,
} from './two-factor/passkeys/passkeys.controller.js';
import { PasskeysRepository } from './two-factor/passkeys/passkeys.repository.js';
import { Passkeys } from './two-factor/passkeys/passkeys.service.js';
import { TwoFactorController } from './two-factor/two-factor.controller.js';
import { TwoFactorService } from './two-factor/two-factor.service.js';
import { SecurityNotifications } from './notifications/security.notifications.js';
import { SecurityPersonalData } from './security-personal-data.js';

@Module({
  imports: [TenantsModule],
  controllers: [
    TwoFactorController,
    SecuritySettingsController,
    ApplicationPasswordsController,
    EmailChangeController,
    PasskeysController,
    PasskeyVerificationController,
  ],
  providers: [
    SecurityPersonalData,
    SecurityNotifications,
    SecondFactorsRepository,
    SecondFactors,
    SecondFactorEnrolment,
    SignInLog,
    PasswordSignIn,
    Confirmation,
    SecurityLog,
    TwoFactorService,
    BreachList,
    PasswordPolicy,
    PasswordChangeService,
    SecuritySettingsService,
    ApplicationPasswordsRepository,
    ApplicationPasswordProviders,
    ApplicationPasswords,
    ApplicationPasswordRemoval,
    ApplicationPasswordSignIn,
    AccountRecovery,
    OwnerCheck,
    AccountTokens,
    PasswordRecovery,
    EmailChange,
    PasskeySite,
    PasskeysRepository,
    PasskeyChallenges,
    PasskeyProofs,
    Passkeys,
    PasskeyLinks,
    RequiredEnrolment,
  ],
  exports: [
    OwnerCheck,
    AccountRecovery,
    PasswordRecovery,
    PasswordPolicy,
    EmailChange,
    SecondFactors,
    PasswordSignIn,
    SecurityLog,
    ApplicationPasswordProviders,
    ApplicationPasswordSignIn,
    PasskeyProofs,
    Passkeys,
    PasskeyLinks,
    RequiredEnrolment,
  ],
})
export class AccountSecurityModule {}
