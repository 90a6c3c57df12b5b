// The driver of a real Neovim: keys go in by a socket, and what it shows is read from its buffers and windows. All goes over
// one connection: `nvim --remote-send` and `--remote-expr` start a Neovim for each key and each look, which on a busy machine
// takes longer than what is measured.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '../../editors/vscode/test/e2e/steps.mjs';
import { file } from './story.mjs';

const plugin = path.resolve(import.meta.dirname, '../../editors/nvim');
let windows = 0;

/** Answers each line of a connection: keys are taken as if they were typed, and of Lua it says what it returns. */
const answering = (socket) => `
  local server = vim.uv.new_pipe(false)
  server:bind(${JSON.stringify(socket)})
  server:listen(8, function()
    local peer, rest = vim.uv.new_pipe(false), ""
    server:accept(peer)
    local function answer(id, ok, value)
      peer:write(vim.json.encode({ id = id, ok = ok, value = value == nil and vim.NIL or value }) .. "\\n")
    end
    peer:read_start(function(_, data)
      if not data then
        return peer:close()
      end
      rest = rest .. data
      while rest:find("\\n") do
        local line, behind = rest:match("^(.-)\\n(.*)$")
        rest = behind
        local asked = vim.json.decode(line)
        if asked.keys then
          vim.api.nvim_input(asked.keys)
          answer(asked.id, true)
        else
          vim.schedule(function()
            answer(asked.id, pcall(assert(loadstring(asked.lua))))
          end)
        end
      end
    end)
  end)`;

export class Neovim {
  static terminal = true;

  constructor(world, { program, server }) {
    Object.assign(this, { world, program, server });
  }

  async start() {
    const { home, project, env } = this.world;
    this.socket = path.join(home, `nvim-${++windows}`);
    const init = `${this.socket}.lua`;
    fs.writeFileSync(init, `
      vim.o.swapfile, vim.o.shadafile, vim.o.more = false, "NONE", false
      vim.o.columns, vim.o.lines = 120, 40
      vim.g.mapleader = " "
      vim.opt.runtimepath:prepend(${JSON.stringify(plugin)})
      require("azimuth").setup({ cmd = { ${JSON.stringify(this.server)}, "lsp" }, trust = true })
      vim.cmd("runtime plugin/azimuth.lua")${answering(this.socket)}`);
    this.process = spawn(this.program, ['--clean', '--headless', '-c', `luafile ${init}`], { cwd: project, env, stdio: 'ignore' });
    this.peer = await until('the socket of Neovim', () => connected(this.socket));
    this.waiting = new Map();
    createInterface({ input: this.peer }).on('line', (line) => {
      const { id, ok, value } = JSON.parse(line);
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (ok) resolve(value ?? undefined);
      else reject(new Error(value));
    });
    this.peer.on('close', () => this.waiting.forEach(({ reject }) => reject(new Error('Neovim has ended'))));
  }

  async stop() {
    await this.second?.stop();
    this.peer?.destroy();
    this.process.kill('SIGKILL');
  }

  async open(name) {
    await this.keys(`:edit ${name}<CR>`);
    await until(name, async () => (await this.lua('return vim.fn.expand("%:t")')) === name);
  }

  async typeAtStart(text) {
    await this.focusFile();
    await this.keys(`ggO${text.trimEnd()}<Esc>`);
  }

  async openChat() {
    await this.keys('<Space>aa');
    await until('the session', () => this.lua('return require("azimuth.client").session()'));
  }

  async prompt(text) {
    await this.normal();
    await this.lua('require("azimuth.chat").focus_input()');
    await until('the input', async () => (await this.lua('return vim.api.nvim_get_mode().mode')) === 'i');
    await this.keys(`${text}<C-s>`);
  }

  async cancel() {
    await this.keys('<C-c>');
  }

  async answer(option) {
    await this.normal();
    await this.keys('<Space>ap');
    await until('the question has the cursor', () => this.lua('return vim.api.nvim_win_get_config(0).relative ~= ""'));
    const [, key] = (await this.question()).split('\n').map((line) => /\[(.)\]\s+(.*)/.exec(line)).find((found) => found?.[2].includes(option));
    await until('the question takes keys', () => this.lua('local permission = require("azimuth.permission") return permission.takes_keys(permission.open()[1].request.permissionId)'));
    await this.keys(key);
  }

  async openTerminal() {
    await this.normal();
    await this.keys('<Space>at');
    await until('the terminal', () => this.lua('return vim.bo.buftype == "terminal"'));
  }

  async typeInTerminal(text) {
    await this.keys('i');
    await until('the terminal takes keys', async () => (await this.lua('return vim.api.nvim_get_mode().mode')) === 't');
    await this.keys(`${text}<CR>`);
  }

  async openReview() {
    await this.focusFile();
    await this.keys('<Space>ad');
    await until('the diff', () => this.lua('return vim.wo.diff'));
  }

  async closeReview() {
    await this.keys(':tabclose<CR>');
    await until('the diff is closed', () => this.lua('return not vim.wo.diff'));
  }

  async decide(decision, number) {
    await this.focusFile();
    await this.keys(`${number === 1 ? 'gg' : ''}]a<Space>a${decision === 'accept' ? 'y' : 'x'}`);
  }

  async undo() {
    await this.focusFile();
    await this.keys('u');
  }

  async killServer() {
    const pid = await until('the server', () => childOf(this.process.pid, 'azimuth'));
    process.kill(pid, 'SIGKILL');
    await until('a new server', () => ![undefined, pid].includes(childOf(this.process.pid, 'azimuth')));
  }

  async openSecondWindow() {
    this.second = new Neovim(this.world, this);
    await this.second.start();
    await this.second.open(file);
    await this.second.openChat();
  }

  hunksInSecondWindow() {
    return this.second.hunks();
  }

  buffer() {
    return this.lua(`return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("${file}"), 0, -1, false), "\\n") .. "\\n"`);
  }

  chat() {
    return this.lua('return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("azimuth://chat"), 0, -1, false), "\\n")');
  }

  /** The text of the window that floats above the others. */
  question() {
    return this.lua(`for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\\n")
      end
    end
    return ""`);
  }

  terminal() {
    return this.lua('return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("azimuth://terminal/"), 0, -1, false), "\\n")');
  }

  running() {
    return this.lua('return require("azimuth.client").state().running ~= nil');
  }

  /** The hunks that are painted in the file. */
  hunks() {
    return this.lua(`return #require("azimuth.review.marks").list(vim.fn.bufnr("${file}"))`);
  }

  async focusFile() {
    await this.normal();
    await this.lua(`vim.api.nvim_set_current_win(vim.fn.bufwinid("${file}"))`);
  }

  async normal() {
    await this.keys('<C-Bslash><C-n>');
    await until('the normal mode', async () => /^nt?$/.test(await this.lua('return vim.api.nvim_get_mode().mode')));
  }

  async keys(keys) {
    await this.ask({ keys });
  }

  /** Returns what a piece of Lua returns. */
  async lua(code) {
    return this.ask({ lua: code });
  }

  ask(what) {
    const id = ++asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.peer.write(`${JSON.stringify({ id, ...what })}\n`);
    });
  }
}

let asked = 0;

/** A connection to a socket, once there is one. */
function connected(socket) {
  return new Promise((resolve) => {
    const peer = net.createConnection(socket);
    peer.once('connect', () => resolve(peer));
    peer.on('error', () => resolve(undefined));
  });
}

/** The process of this name that a process has started. */
function childOf(parent, name) {
  for (const id of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, comm, ppid] = /^\d+ \((.*)\) \S (\d+)/.exec(fs.readFileSync(`/proc/${id}/stat`, 'utf8'));
      if (comm === name && Number(ppid) === parent) return Number(id);
    } catch { /* it has ended */ }
  }
  return undefined;
}
