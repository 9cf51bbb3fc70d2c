export { IssuersModule } from './issuers.module.js';
export { type IssuerAttempt, IssuerSignIn, type SignInIssuer } from './issuer-sign-in.js';
