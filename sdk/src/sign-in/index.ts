export type { StartOptions } from './code-flow.js';
export type { DeviceCode, DeviceOptions } from './device-flow.js';
export type { ProviderOptions } from './provider.js';
export { SignIn, type SignInOptions, type SignInState } from './sign-in.js';
export { MemoryStorage, type TokenStorage } from './storage.js';
export { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi';
