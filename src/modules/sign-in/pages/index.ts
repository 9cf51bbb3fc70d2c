export { chooseLanguage, pageTranslator } from './language.js';
export { page, type Page, type PageLocale } from './layout.js';
export { formTargetOf, type ProviderPages, providerPages } from './provider-pages.js';
export {
  codePage,
  consentPage,
  expiredPage,
  limitedPage,
  passwordPage,
  type SignInPage,
  failurePage,
} from './sign-in-pages.js';
export { pagePolicy } from './style.js';
