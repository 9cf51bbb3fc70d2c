/** An error response in WildDuck's shape: `{error, code}`, or `{code, message}` for errors of its HTTP layer. */
export class MailError extends Error {
  constructor(
    readonly status: number,
    readonly body: Record<string, unknown>,
  ) {
    super(String(body['error'] ?? body['message']));
    this.name = 'MailError';
  }

  /** True for errors of the HTTP layer, whose media type has no charset. */
  get isTransport(): boolean {
    return !('error' in this.body);
  }
}

const domain = (status: number, error: string, code?: string) => (): MailError =>
  new MailError(status, code === undefined ? { error } : { error, code });

const transport = (status: number, code: string, message: string): MailError =>
  new MailError(status, { code, message });

/** Error codes of a full disk. */
export const STORAGE_FULL_CODES = { database: 'DatabaseStorageFull', files: 'FileStorageFull' } as const;

/** All errors of the service. */
export const mailErrors = {
  invalid: (error: string, details: Record<string, string>) =>
    new MailError(400, { error, code: 'InputValidationError', details }),
  missingPrivileges: domain(403, 'Not enough privileges', 'MissingPrivileges'),
  noRelay: domain(
    422,
    'The recipient has no mailbox here, and no outgoing server is configured',
    'NoRelayError',
  ),
  userNotFound: domain(404, 'This user does not exist', 'UserNotFound'),
  userExists: (username: string) =>
    new MailError(500, { error: 'This username already exists', code: 'UserExistsError', username }),
  addressExists: domain(500, 'This email address already exists', 'AddressExistsError'),
  authFailed: (id?: string) =>
    new MailError(403, { error: 'Authentication failed', code: 'AuthFailed', ...(id && { id }) }),
  authRateLimited: domain(403, 'Authentication was rate limited', 'RateLimitedError'),

  noMailbox: domain(404, 'This mailbox does not exist', 'NoSuchMailbox'),
  mailboxExists: (action: 'creation' | 'rename') =>
    domain(400, `Mailbox ${action} failed with code MailboxAlreadyExists`, 'MailboxExistsError')(),
  /** WildDuck has no limit of the whole path. */
  mailboxPathTooLong: () => mailErrors.invalid('"path" is too long', { path: '"path" is too long' }),
  mailboxDisallowed: (action: 'update' | 'deletion') =>
    domain(400, `Mailbox ${action} failed with code DisallowedMailboxMethod`, 'DisallowedMailboxMethod')(),
  /** WildDuck deletes the mailbox and leaves its children without a parent. */
  mailboxHasChildren: domain(
    400,
    'Mailbox deletion failed with code MailboxHasChildren: delete or move the mailboxes below it first',
    'MailboxHasChildrenError',
  ),
  mailboxLimit: domain(
    400,
    'Mailbox creation failed with code ReachedMailboxCountLimit. Max mailboxes count reached.',
    'CANNOT',
  ),
  mailboxNotFound: domain(404, 'Mailbox deletion failed with code NoSuchMailbox', 'NoSuchMailbox'),
  mailboxUnchanged: domain(400, 'Nothing was changed'),

  noMessage: domain(404, 'This message does not exist', 'MessageNotFound'),
  noMatch: domain(404, 'No message matched query', 'MessageNotFound'),
  notMoved: domain(404, 'Could not move message, check if message exists', 'MessageNotFound'),
  notDeleted: domain(404, 'Message was not found'),
  messageUnchanged: domain(400, 'Nothing was changed'),
  noAttachment: domain(404, 'This attachment does not exist', 'AttachmentNotFound'),
  notDraft: domain(400, 'This message is not a draft', 'MessageNotDraft'),
  tooManyRecipients: domain(403, 'Your email has too many recipients', 'TooMany'),
  noRecipients: domain(422, 'The message has no recipients', 'NoRecipients'),
  invalidRecipients: (details: Record<string, string>) =>
    new MailError(422, { error: Object.values(details).join('. '), code: 'InvalidRecipients', details }),
  sendingLimit: (hours: number) =>
    domain(
      403,
      `You reached a daily sending limit for your account. Limit expires in ${hours} hours`,
      'RateLimitedError',
    )(),
  overQuota: domain(400, 'User is over quota', 'OverQuotaError'),
  messageTooLarge: domain(400, 'The message is larger than this server stores', 'MessageTooLarge'),
  messageUnreadable: domain(400, 'The message is too complex to be stored', 'MessageTooComplex'),
  emptyMessage: domain(400, 'Empty message provided', 'EmptyMessage'),
  /** WildDuck stores what is left of the content. */
  notBase64: () =>
    mailErrors.invalid('"content" of an attachment is not base64', {
      attachments: '"content" is not base64',
    }),
  /** WildDuck responds with status 200 to this failure. */
  unknownEncoding: (encoding: string) =>
    new MailError(200, { error: `Unknown encoding: ${encoding}`, code: 'ERR_UNKNOWN_ENCODING' }),

  /** Status and code differ from those of WildDuck, which responds with 500. */
  storageFull: (storage: 'database' | 'files') =>
    domain(507, 'The storage of the mail service is full', STORAGE_FULL_CODES[storage])(),

  invalidToken: () => transport(403, 'InvalidToken', 'Invalid accessToken value'),
  noRoute: (path: string) => transport(404, 'ResourceNotFound', `${path} does not exist`),
  invalidJson: (reason: string) => transport(400, 'InvalidContent', `Invalid JSON: ${reason}`),
  arrayBody: () => transport(500, 'InternalServer', 'Cannot map POST body of [Array array] onto req.params'),
  encodingUnsupported: () => transport(415, 'UnsupportedMediaType', 'content encoding not supported'),
  typeUnsupported: (type: string) => transport(415, 'UnsupportedMediaType', type),
  bodyTooLarge: () => transport(413, 'PayloadTooLarge', 'Request body size exceeds the limit'),
  busy: () => transport(503, 'ServiceUnavailable', 'The service is busy, try again'),
  internal: () => transport(500, 'InternalServer', 'The request failed'),
};
