export { encryptMessage, isPublicKey, MAX_MESSAGE_BYTES, type ReceiverKeys } from './encryption.js';
