export { chooseLanguage, type Language, LANGUAGES, translator } from './language.js';
export { page, type Page, type Speaking } from './layout.js';
export { formTargetOf, type ProviderPages, providerPages } from './provider-pages.js';
export {
  codePage,
  consentPage,
  type ConsentQuestion,
  expiredPage,
  limitedPage,
  passwordPage,
  type SignInPage,
  troublePage,
} from './sign-in-pages.js';
export { pagePolicy } from './style.js';
