export { AccountSecurityModule } from './account-security.module.js';
export { PasswordSignIn, type SignInOutcome } from './password-sign-in.js';
export { type Proof, type ProofOutcome, SecondFactors } from './second-factors.js';
