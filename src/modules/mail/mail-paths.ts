/** Paths at the mail service, below a person's own tree, out of ids that have been checked. */
export const mailboxPath = (mailbox: string): string[] => ['mailboxes', mailbox];

export const messagesPath = (mailbox: string): string[] => [...mailboxPath(mailbox), 'messages'];

export const messagePath = ({
  mailbox,
  message,
}: {
  mailbox: string;
  message: number;
}): (string | number)[] => [...messagesPath(mailbox), message];
