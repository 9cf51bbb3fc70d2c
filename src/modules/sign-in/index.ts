export { OidcClientsApi, SWAGGER_CLIENT } from './clients/oidc-clients.api.js';
export { CLIENT_KINDS, type ClientKind } from './clients/oidc-clients.repository.js';
export { parseField as parsed } from './interaction/sign-in-forms.js';
export { OIDC_PATH } from './oidc-configuration.js';
export { API_SCOPE } from './model/oidc-scopes.js';
export { SignInModule } from './sign-in.module.js';
export {
  chooseLanguage,
  limitedPage,
  page,
  type Page,
  pagePolicy,
  pageTranslator,
  PASSKEY_SCRIPT_PATH,
  passkeyButton,
} from './pages/index.js';
export { SignInServer } from './sign-in.server.js';
