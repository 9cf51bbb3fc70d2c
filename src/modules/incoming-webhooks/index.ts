export { IncomingWebhooksModule } from './incoming-webhooks.module.js';
