--- Accounts and the bill: signing in and out, a budget with its question, and what was spent, with the real server.

local accounts = require("azimuth.accounts")
local costs = require("azimuth.costs")
local models = require("model")
local support = require("support")
local vendors = require("vendor")

local T = {}

local NOW = 1800000000000

---@param cost? number
---@return azimuth.Spending
local function spending(cost)
  local usage = { input = 60, output = 10, cacheRead = 30, cacheWrite = 10 }
  return { requests = 2, usage = usage, cacheHits = 0.3, cost = cost, unpricedRequests = cost and 0 or 2 }
end

---@param list string[]
---@param line string
local function has_line(list, line)
  assert(vim.tbl_contains(list, line), ("%q is not in:\n%s"):format(line, table.concat(list, "\n")))
end

function T.the_costs_are_tables_with_budgets_limits_and_requests()
  local window = { name = "requests", limit = 50, remaining = 49, used = 0.02, resetsAt = NOW + 10000 }
  local plan = { name = "5 hours of the plan", used = 0.42, resetsAt = NOW + 3 * 3600000 }
  local usage = spending(0).usage
  local rows = { { name = "a/x", spending = spending(0.25) }, { name = "b/y", spending = spending() } }
  local lines = costs.drawn({
    session = {
      total = spending(0.25),
      models = rows,
      side = { { name = "titles", spending = spending(0.125) } },
      children = spending(0.5),
      rounds = {
        { at = NOW, model = "a/x", usage = usage, cost = 0.125, cacheHits = 0.3 },
        { at = NOW, model = "b/y", usage = usage, missedBecause = "the model changed; the last one was a/x" },
      },
      activity = {
        prompts = 2,
        turns = 3,
        requests = 4,
        tools = { { name = "read_file", calls = 5, failed = 1 } },
        speeds = { { model = "a/x", answers = 4, firstMs = 840, tokensPerSecond = 41.6 } },
      },
    },
    today = spending(0.25),
    total = spending(1.5),
    models = rows,
    providers = {},
    days = {},
    projects = { { name = "/home/me/app", title = "app", spending = spending(0.25) } },
    unpriced = { { model = "b/y", requests = 2 } },
    suggestionsCost = 0.5,
    budgets = { { scope = "session", limit = 1, spent = 0.75 } },
    quotas = { { provider = "a", at = NOW - 61000, windows = { window, plan } } },
  }, NOW).lines
  has_line(lines, "this conversation               $0.750   $1.00")
  has_line(lines, "a: requests                     49 of 50       in 10 s  1 min ago")
  has_line(lines, "a: 5 hours of the plan              58 %  in 3 h 0 min  1 min ago")
  has_line(lines, "this conversation                      2    100      10   30 %  $0.250")
  has_line(lines, "of this, other conversations           2    100      10   30 %  $0.500")
  has_line(lines, "  missed: the model changed; the last one was a/x")
  has_line(lines, "b/y                                    2    100      10   30 %  unknown")
  has_line(lines, "app                                    2    100      10   30 %  $0.250")
  has_line(lines, "turns                                3")
  has_line(lines, "read_file                           5       1")
  has_line(lines, "a/x                                     4       840 ms        42")
  has_line(lines, "Not in the costs, since the price was not known: b/y (2 requests).")
end

function T.rows_that_are_left_out_are_summed_up()
  local rows = {}
  for at = 1, 16 do
    rows[at] = { name = "p" .. at, spending = spending(at < 16 and 0.25 or nil) }
  end
  local none = { models = {}, providers = {}, days = {}, unpriced = {}, budgets = {}, quotas = {}, suggestionsCost = 0 }
  local of = { today = spending(0.25), total = spending(1.5), projects = rows }
  local lines = costs.drawn(vim.tbl_extend("force", none, of), NOW).lines
  has_line(lines, "2 more                                 4    200      20   30 %  $0.250 and more")
  rows[15], rows[16] = nil, nil
  for _, line in ipairs(costs.drawn(vim.tbl_extend("force", none, of), NOW).lines) do
    assert(not line:find("%d more "), line)
  end
end

function T.words_on_a_key_that_is_kept_are_whole_sentences()
  local long = ("the vendor said a lot, "):rep(20)
  local check = { state = "unknown", words = "The key is not checked: " .. long .. "so there." }
  local words = accounts.kept("openai", "work", { unusedBecause = "OPENAI_API_KEY\ncounts before it", check = check })
  local before = "the key for openai is kept as work. It is not used yet: OPENAI_API_KEY counts before it. Note: The key"
  support.equal(words:sub(1, #before), before)
  support.contains(words, "so there.")
  check = { state = "taken", words = "OpenAI takes the key." }
  support.equal(accounts.kept("openai", "work", { check = check }), "the key for openai is kept as work. OpenAI takes the key.")
end

function T.accounts_are_listed_with_what_counts()
  local account = { provider = "chatgpt", label = "default", server = "https://a.example", kind = "signIn", ended = false, name = "ada@example.com" }
  local words = vim.tbl_map(function(choice)
    return choice.words
  end, accounts.choices({
    accounts = { account, vim.tbl_extend("force", account, { label = "work", ended = true }) },
    providers = {},
    keys = { { provider = "chatgpt", source = "the account `default`", label = "default" }, { provider = "mistral", source = "the configuration" } },
  }))
  support.equal(words, {
    "chatgpt: default, signed in as ada@example.com, in use",
    "chatgpt: work, signed in as ada@example.com, ended; choose it to sign in again",
    "mistral: key from the configuration, in use",
    "Sign in…",
    "Add an API key as an account…",
    "Add an API key for Neovim…",
  })
end

function T.several_keys_are_listed_with_the_one_in_use_and_those_that_rest()
  local account = { provider = "openai", label = "work", server = "https://o.example", kind = "key", ended = false }
  local rests = os.time({ year = 2020, month = 1, day = 2, hour = 3, min = 4 }) * 1000
  local words = vim.tbl_map(function(choice)
    return choice.words
  end, accounts.choices({
    accounts = { account },
    providers = {},
    keyProviders = {},
    keys = {
      {
        provider = "openai",
        source = "the list of keys in the configuration",
        members = {
          { name = "FIRST_KEY", isAccount = false, inUse = false, restsUntil = rests, reason = "rate_limited" },
          { name = "work", isAccount = true, inUse = true },
          { name = "OLD_KEY", isAccount = false, inUse = false, restsUntil = rests, reason = "unauthorized" },
        },
      },
    },
  }))
  support.equal({ words[1], words[2], words[3], words[4] }, {
    "openai: work, key, in use",
    "openai: key FIRST_KEY, it has reached a limit; rests until 2020-01-02 03:04",
    "openai: key OLD_KEY, refused by the provider, tried again at 2020-01-02 03:04",
    "Sign in…",
  })
end

--- Runs a story with a model that has a price, and a vendor that can be signed in to.
---@param more string What stands at the head of the configuration.
---@param answers Answer[]
---@param story fun(child: Child, vendor: Vendor)
local function billed(more, answers, story)
  local place, model, vendor = support.place({ ["a.txt"] = "one\n" }), models.start(answers), vendors.start()
  support.use_model(place, model, more)
  local path = place.home .. "/config/azimuth/config.toml"
  local priced = '[[providers.test.model]]\nid = "m"\n[providers.test.model.price]\ninput = 1\noutput = 1\n'
  support.write(path, table.concat(vim.fn.readfile(path), "\n") .. "\n" .. priced .. vendor:configuration())
  local child = support.start(place)
  local ok, problem = xpcall(function()
    -- The choice is the first item with a text, and the browser is none.
    child:lua([[
      vim.ui.select = function(items, options, pick)
        local words = vim.tbl_map(options.format_item or tostring, items)
        _G.offered = words
        for at, word in ipairs(words) do
          if word:find(_G.wanted, 1, true) then
            return pick(items[at], at)
          end
        end
        pick(nil)
      end
      vim.ui.open = function(url)
        _G.opened = url
      end
      _G.text = function()
        return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
      end
      _G.heard = function(words)
        return vim.iter(_G.said):any(function(said) return said[1]:find(words, 1, true) ~= nil end)
      end
    ]])
    story(child, vendor)
  end, debug.traceback)
  child:stop()
  assert(ok, problem)
end

function T.a_sign_in_by_a_code_is_cancelled_done_listed_and_ended()
  billed("", {}, function(child, vendor)
    child:lua("_G.wanted = 'any device'")
    child:command("Azimuth accounts login gateway")
    child:wait("_G.text():find('and enter this code:  ABCD-EFGH', 1, true)")
    support.equal(child:lua("return _G.opened"), vendor.url .. "/page")
    child:type("y")
    support.equal(child:lua("return vim.fn.getreg('\"')"), vendors.CODE)
    child:type("q")
    child:wait("_G.heard('cancelled')")

    child:command("Azimuth accounts login gateway")
    child:wait("_G.text():find('and enter this code:', 1, true)")
    vendor.approved = true
    child:wait("_G.heard('signed in to gateway')")
    child:wait("not _G.text():find('and enter this code:', 1, true)")
    child:lua("_G.wanted = 'gateway: default'")
    child:command("Azimuth accounts")
    child:wait("_G.offered[1] == 'Keep it'")
    child:lua("_G.wanted = 'Sign out'")
    child:command("Azimuth accounts logout gateway default")
    child:wait("_G.heard('the account default at gateway is forgotten')")
    support.equal(vendor.revoked, 1)
    child:command("Azimuth accounts nonsense")

    -- A key that is refused is kept only if the user says so, and a good one as an account; it is forgotten.
    child:lua(("vim.fn.inputsecret = function() return %q end"):format(vendors.WRONG))
    child:lua("_G.wanted = 'nothing'")
    child:command("Azimuth accounts keep gateway work")
    child:wait("_G.heard('refuses the key: status 401: this key is unknown. It was not kept.')")
    child:wait("_G.offered[2] == 'Keep it anyway'")
    child:lua("_G.wanted, _G.said = 'Keep it anyway', {}")
    child:command("Azimuth accounts keep gateway work")
    child:wait("_G.heard('the key for gateway is kept as work.')")
    child:lua([[_G.wanted, _G.said = 'Try again', {}
      local keys = { 'sk-kept-0123456789', vim.fn.inputsecret() }
      vim.fn.inputsecret = function() return table.remove(keys) end]])
    child:command("Azimuth accounts keep gateway work")
    child:wait("_G.heard('is kept as work. gateway (127.0.0.1:') and _G.heard('takes the key.')")
    child:wait("_G.heard('asking gateway about the key')")
    child:lua("_G.wanted = 'gateway: work, key, in use'")
    child:command("Azimuth accounts")
    child:wait("_G.offered[1] == 'Keep it'")
    child:lua("_G.wanted = 'Sign out'")
    child:command("Azimuth accounts logout gateway work")
    child:wait("_G.heard('the account work at gateway is forgotten')")
    local said = vim.inspect(child:lua("return _G.said"))
    support.lacks(said, "of-nobody")
    support.lacks(said, "sk-kept")
    support.lacks(said, "sk-wrong")
  end)
end

function T.a_budget_asks_and_the_costs_are_shown()
  -- A request costs 1200 tokens in and 300 out, so $0.0015.
  billed("session_budget = 0.0018", { { text = "One." }, { text = "Two." }, { text = "Three." } }, function(child)
    child:open_chat()
    for _, word in ipairs({ "One", "Two" }) do
      child:prompt(("Say %s."):format(word:lower()))
      child:wait_for(word .. ".")
      child:wait("not require('azimuth.client').state().running")
    end
    child:wait_for("of its budget of")
    child:prompt("Say three.")
    child:lua("vim.cmd.stopinsert()")
    child:wait_for_question()
    child:command("Azimuth permission")
    child:wait("_G.text():find('The budget of this conversation is spent. Go on?', 1, true)")
    support.contains(child:lua("return vim.api.nvim_win_get_config(0).title[1][1]"), "Azimuth asks: budget")
    child:type("a")
    child:wait_for("Three.")
    child:command("Azimuth costs")
    child:wait("_G.text():find('Its last requests', 1, true)")
    local shown = child:lua("return _G.text()")
    for _, words in ipairs({ "Your budgets", "this conversation", "$0.005", "test/m", "today (UTC)" }) do
      support.contains(shown, words)
    end
    child:command("Azimuth status")
    child:wait([[vim.iter(_G.said):any(function(said)
      return said[1]:find("Cost of this conversation: $0.005\nCost of today (UTC), all conversations: $0.005\nCost of all time: $0.005", 1, true)
    end)]])
  end)
end

return T
