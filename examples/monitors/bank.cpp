// A bank in the style of Java: objects with synchronised methods, and threads that meet in them.
//
//   monitors [ORDERS [TELLERS]]          default: 40 orders and 3 tellers
//
// A clerk puts orders into a queue with room for four. Tellers take them, move money between two
// accounts while they own both, and enter it in the ledger. An auditor sometimes stops everything
// and counts the money.
// Threads, locks and waits are real. The duration of a piece of work is paced by sleeping, so that
// a small number of processors can run many threads.

#include "monitor.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <vector>

Counts counts;
std::atomic<uint16_t> Monitor::next{0};

namespace {

const int ACCOUNTS = 4;
const long DEPOSIT = 1000;

void work(int micros) { std::this_thread::sleep_for(std::chrono::microseconds(micros)); }

struct Order {
    int number, from, to; // a negative number: no more orders
    long amount;
};

class Account : public Monitor {
public:
    explicit Account(uint16_t number) : Monitor("Account", number) {}

    // Callers may own the account already: a monitor may be entered again.
    void add(long amount) {
        Call call("Account", amount < 0 ? "withdraw" : "deposit");
        Synchronized own(*this);
        work(80);
        money += amount;
    }

    long balance() {
        Call call("Account", "balance");
        Synchronized own(*this);
        work(30);
        return money;
    }

private:
    long money = DEPOSIT;
};

class Queue : public Monitor {
public:
    Queue() : Monitor("Queue", 0) {}

    void put(const Order &order) {
        Call call("Queue", "put");
        Synchronized own(*this);
        while (orders.size() == 4) {
            wait();
        }
        orders.push_back(order);
        notify_all();
    }

    Order take() {
        Call call("Queue", "take");
        Synchronized own(*this);
        while (orders.empty()) {
            wait();
        }
        const Order order = orders.front();
        orders.pop_front();
        notify_all();
        return order;
    }

private:
    std::deque<Order> orders;
};

class Ledger : public Monitor {
public:
    Ledger() : Monitor("Ledger", 0) {}

    void append(const Order &order) {
        Call call("Ledger", "append");
        Synchronized own(*this);
        const std::string line = format(order);
        Call write("Disk", "write");
        work(150 + static_cast<int>(line.size()));
        lines++;
    }

    int entries() {
        Synchronized own(*this);
        return lines;
    }

private:
    static std::string format(const Order &order) {
        Call call("Ledger", "format");
        work(60);
        return std::to_string(order.number) + ": " + std::to_string(order.amount) + "\n";
    }

    int lines = 0;
};

class Bank {
public:
    Bank() {
        for (uint16_t number = 0; number < ACCOUNTS; number++) {
            accounts.emplace_back(number);
        }
    }

    // A teller owns both accounts at once, always the lower number first, so that no two threads
    // wait for each other.
    void transfer(const Order &order) {
        Call call("Bank", "transfer");
        Account &from = account(order.from), &to = account(order.to);
        Synchronized first(order.from < order.to ? from : to);
        Synchronized second(order.from < order.to ? to : from);
        from.add(-order.amount);
        to.add(order.amount);
    }

    // While all accounts are owned, no transfer is unfinished.
    bool audit() {
        Call call("Bank", "audit");
        return add_up(0) == ACCOUNTS * DEPOSIT;
    }

    Queue queue;
    Ledger ledger;

private:
    Account &account(int number) { return accounts[static_cast<size_t>(number)]; }

    long add_up(int number) {
        if (number == ACCOUNTS) {
            return 0;
        }
        Call call("Bank", "addUp");
        Synchronized own(account(number));
        const long money = account(number).balance();
        return money + add_up(number + 1);
    }

    std::deque<Account> accounts;
};

// Gives the thread a name, which the trace shows.
void begin(const std::string &name) {
    tumit1_set_thread_name(name.c_str());
    counts.threads++;
}

void clerk(Bank &bank, int orders, int tellers) {
    begin("clerk");
    Call call("Clerk", "run");
    for (int number = 0; number < orders; number++) {
        const int from = number * 7 % ACCOUNTS, to = (from + 1 + number % (ACCOUNTS - 1)) % ACCOUNTS;
        work(number < orders / 2 ? 150 : 600); // first faster than the tellers, then slower
        bank.queue.put(Order{number, from, to, 10 + number % 90});
    }
    for (int teller = 0; teller < tellers; teller++) {
        bank.queue.put(Order{-1, 0, 0, 0});
    }
}

void teller(Bank &bank, int number) {
    begin("teller " + std::to_string(number));
    Call call("Teller", "run");
    for (;;) {
        const Order order = bank.queue.take();
        if (order.number < 0) {
            return;
        }
        Call serve("Teller", "serve");
        work(120);
        bank.transfer(order);
        bank.ledger.append(order);
    }
}

void auditor(Bank &bank, int audits, bool &good) {
    begin("auditor");
    Call call("Auditor", "run");
    while (audits-- > 0) {
        work(2500);
        good = bank.audit() && good;
    }
}

int number(const char *text, int most) {
    char *end;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > most) {
        std::fprintf(stderr, "monitors: `%s`: expected a number from 1 to %d; usage: monitors [ORDERS [TELLERS]]\n", text, most);
        std::exit(2);
    }
    return static_cast<int>(value);
}

} // namespace

int main(int argc, char **argv) {
    const int orders = argc > 1 ? number(argv[1], 1000000) : 40;
    const int tellers = argc > 2 ? number(argv[2], 100) : 3;
    bool good = true;
    begin("main");
    Bank bank;
    std::vector<std::thread> threads;
    threads.emplace_back(clerk, std::ref(bank), orders, tellers);
    for (int i = 1; i <= tellers; i++) {
        threads.emplace_back(teller, std::ref(bank), i);
    }
    threads.emplace_back(auditor, std::ref(bank), orders / 8, std::ref(good));
    for (std::thread &thread : threads) {
        thread.join();
    }
    good = good && bank.audit() && bank.ledger.entries() == orders;
    tumit1_finish();
    std::printf("bank: %d orders, the money is %s\n", orders, good ? "all there" : "WRONG");
    std::printf("counts: threads=%lu monitors=%lu calls=%lu states=%lu releases=%lu notices=%lu\n", counts.threads.load(),
                counts.monitors.load(), counts.calls.load(), counts.states.load(), counts.releases.load(), counts.notices.load());
    return good ? 0 : 1;
}
