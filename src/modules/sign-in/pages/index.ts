export { chooseLanguage, pageTranslator } from './language.js';
export { enrolmentPage, recoveryCodesPage } from './enrolment-pages.js';
export { issuerPage } from './issuer-page.js';
export { page, type Page, type PageLocale } from './layout.js';
export { PASSKEY_SCRIPT, PASSKEY_SCRIPT_PATH, passkeyButton } from './passkey-script.js';
export { formTargetOf, type ProviderPages, providerPages } from './provider-pages.js';
export {
  consentPage,
  expiredPage,
  factorPage,
  type FactorMethod,
  limitedPage,
  passwordPage,
  type SignInPage,
  failurePage,
} from './sign-in-pages.js';
export { pagePolicy } from './style.js';
