// The driver of a real VS Code in a browser, made of the steps of its own stories.
import * as e2e from '../../editors/vscode/test/e2e/steps.mjs';
import { file } from './story.mjs';

export class VsCode {
  static terminal = true;

  constructor(world) {
    this.world = world;
  }

  async start() {
    await this.world.page.setViewportSize({ width: 1600, height: 900 });
  }

  async stop() {}

  async open(name) {
    await e2e.openFile(this.world, name);
  }

  async typeAtStart(text) {
    await e2e.typeAtStart(this.world, text);
  }

  async openChat() {
    await e2e.openChat(this.world);
    await e2e.status(this.world, /ready/);
  }

  async prompt(text) {
    const { page } = this.world;
    const frame = await this.frame();
    await frame.locator('textarea').click();
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }

  async cancel() {
    await this.world.page.keyboard.press('Escape');
  }

  async answer(option) {
    await e2e.answer(this.world, option);
  }

  async openTerminal() {
    await e2e.openTerminal(this.world);
  }

  async typeInTerminal(text) {
    await this.world.page.keyboard.type(text);
    await this.world.page.keyboard.press('Enter');
  }

  async openReview() {
    await e2e.openReview(this.world);
  }

  async closeReview() {
    await e2e.closeTab(this.world);
  }

  async decide(decision, number) {
    if (number === 1) await this.openReview();
    else await e2e.chord(this.world, 'n');
    await e2e.chord(this.world, decision === 'accept' ? 'g' : 'x');
  }

  async undo() {
    await e2e.openFile(this.world, file);
    await this.world.page.keyboard.press('Control+z');
  }

  async killServer() {
    const pid = await e2e.killServer(this.world);
    await e2e.until('a new server', () => ![undefined, pid].includes(e2e.serverPid(this.world.server.dir)));
    await e2e.status(this.world, /ready/);
  }

  async openSecondWindow() {
    this.second = new VsCode({ ...this.world, ...await this.world.open() });
    await this.second.openChat();
    // Another window of the browser remembers nothing of this one: the session is chosen, as a person would.
    await e2e.choose(this.second.world, 'Open Session', file);
  }

  hunksInSecondWindow() {
    return this.second.hunks();
  }

  async buffer() {
    await e2e.openFile(this.world, file);
    return e2e.bufferText(this.world);
  }

  async chat() {
    return (await this.frame()).locator('.transcript').innerText();
  }

  async question() {
    const question = (await this.frame()).locator('.entry.question.open');
    return (await question.count()) > 0 ? question.first().innerText() : '';
  }

  async terminal() {
    return e2e.terminalShows(this.world, '');
  }

  async running() {
    return (await (await this.frame()).getByRole('button', { name: 'Stop', exact: true }).count()) > 0;
  }

  async hunks() {
    return Number(/(\d+) hunks? waits? /.exec(await e2e.status(this.world, /./))?.[1] ?? 0);
  }

  async picture(file) {
    await this.world.page.screenshot({ path: file });
  }

  frame() {
    return e2e.chatFrame(this.world);
  }
}
