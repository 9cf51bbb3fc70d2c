/** The library of the OpenID provider. Its 217 modules are loaded by the first request of the protocol, not at the start. */
export const oidcLibrary = () => import('oidc-provider');
