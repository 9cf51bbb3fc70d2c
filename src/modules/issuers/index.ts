export { ISSUER_CALLBACK_PATH } from './issuers.presenter.js';
export { IssuersModule } from './issuers.module.js';
export { type IssuerAttempt, type IssuerOrigin, IssuerSignIn, type SignInIssuer } from './issuer-sign-in.js';
