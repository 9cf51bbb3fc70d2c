export { chooseLanguage, pageTranslator, page, type Page, type PageLocale, pagePolicy } from './layout.js';
export { enrolmentPage, recoveryCodesPage } from './enrolment-pages.js';
export {
  issuerPage,
  consentPage,
  expiredPage,
  factorPage,
  type FactorMethod,
  limitedPage,
  passwordPage,
  type SignInPage,
  failurePage,
} from './sign-in-pages.js';
export { PASSKEY_SCRIPT, PASSKEY_SCRIPT_PATH, passkeyButton } from './passkey-script.js';
export { formTargetOf, type ProviderPages, providerPages } from './provider-pages.js';
