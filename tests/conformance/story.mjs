// The story that every client of Azimuth is led through, as data: what the user does, and what holds then.
//
// `does` names verbs of the drivers (`neovim.mjs`, `vscode.mjs`, `plain.mjs`). `expects` names what a driver or the world
// can see: a list is texts that must be there, anything else must be equal. `within` is the deadline in milliseconds. After a step
// that is `typed`, the command has what it waits for.

/** The file that is edited, and its text at each point of the story. */
export const file = 'lib.rs';
const onDisk = 'fn first() -> u8 {\n    1\n}\n\nfn second() -> u8 {\n    2\n}\n\nfn third() -> u8 {\n    3\n}\n';
const mine = 'static MINE: u8 = 7; /* \u{1F980} */\n';
const typed = mine + onDisk;
const first = typed.replace('    1\n', '    10\n');
const firstAndThird = first.replace('    3\n', '    30\n');
export const files = { [file]: onDisk, 'greet.sh': 'printf "name? "\nread name\necho "hello $name"\n' };

const edit = (old_text, new_text) => ({ tool: 'edit_replace_exact', input: { path: file, old_text, new_text } });

/**
 * The answers of the model, request by request. Where there is no terminal, the command's answer is in the command. A user who
 * takes longer than a second or so to type it, which is all that the call waits, is waited for until `typed`.
 */
export const answers = ({ terminal }, typed) => [
  { text: 'streamed\n', delayMs: 20, forever: true },
  { text: 'I ask first. ', calls: [{ tool: 'shell_run', input: { command: terminal ? 'sh greet.sh' : 'echo Ada | sh greet.sh' } }] },
  { again: ({ messages }) => !JSON.stringify(messages).includes('hello Ada'), until: typed, calls: [{ tool: 'shell_read', input: { terminal: 'shell' } }] },
  { calls: [edit('    1\n', '    10\n'), edit('    2\n', '    20\n'), edit('    3\n', '    30\n')] },
  { text: 'All three are proposed.' },
  { text: 'Still here.' },
];

export const steps = [
  {
    step: 'a file is opened, and has unsaved text',
    does: [['open', file], ['typeAtStart', mine]],
    expects: { buffer: typed, disk: onDisk },
  },
  {
    step: 'a prompt names the @file: the model gets its unsaved text, and the answer streams',
    does: [['openChat'], ['prompt', `What is in @${file} ?`]],
    expects: { asked: ['static MINE', 'fn third'], chat: ['streamed'], running: true },
  },
  {
    // The aim is 100 ms; a busy machine that drives a browser gets ten times that.
    step: 'cancel ends the turn',
    does: [['cancel']],
    expects: { running: false },
    within: 1_000,
  },
  {
    step: 'a permission is asked, with its scope',
    does: [['prompt', 'Make the numbers ten times larger.']],
    expects: { question: ['sh greet.sh', 'Allow once', 'Always allow'] },
  },
  {
    step: 'it is given; the unsaved text is asked about',
    does: [['answer', 'Allow once']],
    expects: { question: ['Run without saving'], disk: onDisk },
  },
  {
    step: 'the command runs',
    does: [['answer', 'Run without saving']],
    expects: {},
  },
  {
    step: 'its output shows in the terminal',
    does: [['openTerminal']],
    expects: { terminal: ['name?'] },
  },
  {
    step: 'keys typed there reach it',
    does: [['typeInTerminal', 'Ada']],
    expects: { terminal: ['hello Ada'] },
    typed: true,
  },
  {
    step: 'three hunks are proposed, and nothing is changed by it',
    does: [],
    expects: { asked: ['hello Ada'], running: false, hunks: 3, chat: ['All three are proposed.'], buffer: typed, disk: onDisk },
  },
  {
    step: 'to close the view decides nothing',
    does: [['openReview'], ['closeReview']],
    expects: { hunks: 3, buffer: typed },
  },
  {
    step: 'a killed server is started again, and the hunks stand',
    does: [['killServer']],
    expects: { hunks: 3, chat: ['All three are proposed.'], buffer: typed },
  },
  {
    step: 'the session goes on',
    does: [['prompt', 'Are you there?']],
    expects: { asked: ['ten times larger', 'Are you there?'], chat: ['Still here.'], running: false, hunks: 3 },
  },
  {
    step: 'a second window sees the same hunks',
    does: [['openSecondWindow']],
    expects: { hunksInSecondWindow: 3 },
  },
  { step: 'the first hunk is accepted', does: [['decide', 'accept', 1]], expects: { hunks: 2, buffer: first } },
  { step: 'the second is rejected', does: [['decide', 'reject', 2]], expects: { hunks: 1, buffer: first } },
  {
    step: 'the third is accepted: the text is exactly that, and unsaved; the second window sees it',
    does: [['decide', 'accept', 3]],
    expects: { hunks: 0, buffer: firstAndThird, disk: onDisk, hunksInSecondWindow: 0 },
  },
  { step: 'one undo takes back one accept', does: [['undo']], expects: { buffer: first } },
  { step: 'the next takes back the other', does: [['undo']], expects: { buffer: typed } },
];

/** Where clients differ, and why. `lacks` are the steps that the client does not take, or one thing it does not show then. */
export const differences = [
  {
    client: 'plain', what: 'It has no terminal: what the command asks for is piped into it.',
    lacks: [['its output shows in the terminal'], ['keys typed there reach it']],
    why: 'LSP has no terminals; a panel shows them by `azimuth/terminal/open`.',
  },
  {
    client: 'plain', what: 'The chat is a Markdown document; questions, the cancel and hunks are code actions.',
    why: 'A client without our capability gets only what LSP has.',
  },
  {
    client: 'plain', what: 'The view that is closed is the chat document; there is no review beside the hints in the file.',
    why: 'Hints belong to the file and are there as long as it is open.',
  },
  {
    client: 'plain', what: 'A second window shows the hunks once a prompt is sent in its chat document.',
    lacks: [
      ['a second window sees the same hunks'],
      ['the third is accepted: the text is exactly that, and unsaved; the second window sees it', 'hunksInSecondWindow'],
    ],
    why: 'Both windows have the same chat document open, so only the one that has the session writes into it.',
  },
  {
    client: 'VS Code', what: 'The review is a diff that closes with its last hunk; in Neovim the hunks stand in the file.',
    why: 'Each is the way of its editor.',
  },
  {
    client: 'VS Code', what: 'It is driven through a browser, and its times hold the browser and the palette.',
    why: 'code-server is the real workbench; no way leads around its window.',
  },
  {
    client: 'Neovim', what: 'It runs without a screen and gets its keys by its socket.',
    why: 'So no terminal emulator stands between; how it looks is shown by screenshots elsewhere.',
  },
];
